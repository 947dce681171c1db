/** Fails a check of the sources that has read too few: it would find nothing. @param least files below each folder */
export function expectSources(files: string[], least: Record<string, number>): void {
  for (const [folder, count] of Object.entries(least)) {
    expect([folder, files.filter((file) => file.startsWith(folder)).length >= count]).toEqual([folder, true]);
  }
}

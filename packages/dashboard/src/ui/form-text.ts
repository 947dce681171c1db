/** Returns a form field as trimmed text; empty where it is missing. */
export const getFormText = (formData: FormData, name: string): string => String(formData.get(name) ?? '').trim();

/** Runs `work` at most once per frame. A hidden tab gets no frames, so it uses a timer there. */
export function throttleToFrame(work: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    const later = document.hidden ? (next: () => void) => setTimeout(next, 100) : requestAnimationFrame;
    later(() => {
      waiting = false;
      work();
    });
  };
}

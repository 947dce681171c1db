/** Runs `work` at most once for each frame, however often it is asked for. A hidden tab gets no frames, but its data must not pile up. */
export function oncePerFrame(work: () => void): () => void {
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

/** Counts the steps of a plan: list items with a box. */
export function progressOf(markdown: string): { steps: number; done: number } {
  const boxes = [...markdown.matchAll(/^\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\]/gm)];
  return { steps: boxes.length, done: boxes.filter(([, box]) => box !== ' ').length };
}

/** A ref of what is chosen in a row that scrolls: it comes into view when it is chosen. */
export const intoView = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: 'nearest', inline: 'nearest' });

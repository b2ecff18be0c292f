/** A ref for the selected item of a scrollable row, which scrolls it into view. */
export const intoView = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: 'nearest', inline: 'nearest' });

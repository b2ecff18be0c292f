/** The selectors of panels. */
export const panelPlaces = {
  browser: '[aria-label="Browser"]',
  changes: '[aria-label="Changes"]',
  chat: '[aria-label="Chat"]',
  code: '[aria-label="Code"]',
  terminal: '[aria-label="Terminal"]',
} as const;

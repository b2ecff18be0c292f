/** The panels of a session, in the order of their shortcuts. */
export const panelIds = [
  'chat',
  'code',
  'changes',
  'terminal',
  'browser',
  'plan',
  'usage',
  'log',
] as const;
export type PanelId = (typeof panelIds)[number];

export const panelTitles: Record<PanelId, string> = {
  chat: 'Chat',
  code: 'Code',
  changes: 'Changes',
  terminal: 'Terminal',
  browser: 'Browser',
  plan: 'Plan',
  usage: 'Usage',
  log: 'Log',
};

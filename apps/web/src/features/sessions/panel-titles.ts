import type { PanelId } from './dock-store';

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

import type { PaletteCommand } from '@/lib/commands';
import { panelIds, panelTitles, type PanelId } from '@/lib/panels';

type Shortcut = Pick<PaletteCommand, 'title'> & { keys: string };

/** Shortcuts of the fleet, which act on the focused row. Enter opens it, since it is a link. */
export const fleetShortcuts = {
  'fleet.next': { title: 'Next session', keys: 'j' },
  'fleet.previous': { title: 'Previous session', keys: 'k' },
  'fleet.pick': { title: 'Select the session', keys: 'x' },
  'fleet.allow': { title: 'Allow the session’s request once', keys: 'y' },
  'fleet.reject': { title: 'Deny the session’s request', keys: 'n' },
  'fleet.archive': { title: 'Archive the session', keys: 'e' },
  'fleet.search': { title: 'Filter and search', keys: '/' },
} as const satisfies Record<string, Shortcut>;

export const sessionShortcuts = {
  'session.pause': { title: 'Pause this session', keys: 'mod+shift+p' },
  'session.stop': { title: 'Stop this session', keys: 'mod+shift+x' },
  'approval.allow': { title: 'Allow the pending request once', keys: 'y' },
  'approval.reject': { title: 'Deny the pending request', keys: 'n' },
  'message.write': { title: 'Message the agent', keys: 'm' },
  'chat.find': { title: 'Find in the chat', keys: 'mod+f' },
  'files.open': { title: 'Open a file', keys: 'mod+p' },
  'moment.live': { title: 'Go to the live end', keys: 'l' },
  'session.fork': { title: 'Fork this session', keys: '' },
  'session.share': { title: 'Share this session', keys: '' },
  'moment.link': { title: 'Copy a link to this moment', keys: '' },
} as const satisfies Record<string, Shortcut>;

export const panelShortcut = (panel: PanelId): Shortcut & { id: string } => ({
  id: `panel.${panel}`,
  title: `Show ${panelTitles[panel].toLowerCase()}`,
  keys: `alt+${panelIds.indexOf(panel) + 1}`,
});

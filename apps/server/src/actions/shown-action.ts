import type { InstalledAction } from '@belay/protocol';
import { seesAll, type Caller } from '../access/caller.js';

/**
 * An action as a caller sees it. Without the scope admin: not the folder that it comes from, which may be private. If
 * the caller sees only some sessions: only what it needs to use the action.
 */
export function shownAction(caller: Caller, action: InstalledAction): InstalledAction {
  if (caller.scope === 'admin') return action;
  if (seesAll(caller))
    return action.source.commit === null
      ? { ...action, source: { ...action.source, from: 'a folder' } }
      : action;
  const { environment: _, logo_url: _logo, ...manifest } = action.manifest;
  return {
    ...action,
    manifest: { ...manifest, services: {}, packages: {}, base_image: undefined },
    readme: null,
    source: { from: '', version: null, commit: null, folder: '' },
    error: action.error === null ? null : 'It could not be installed.',
  };
}

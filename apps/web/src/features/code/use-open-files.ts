import { useState } from 'react';
import { userCallPrefix } from '@belay/protocol';
import { usePanelLinks } from '@/lib/panel-links';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { usePreferences } from '@/lib/preferences';
import { unsavedKey, useUnsaved } from './unsaved';

interface Open {
  paths: readonly string[];
  shown: string | null;
  line: number;
  /** Incremented by each visit, so that visiting the same line again scrolls to it. */
  visit: number;
}

const most = 8;

/** The files that are open as tabs; with Follow on, also each file as the agent edits it. */
export function useOpenFiles() {
  const [state, setState] = useState<Open>({ paths: [], shown: null, line: 1, visit: 0 });
  const edit = useView((view) => view.lastEdit);
  const session = useSessionId();
  // A file with unsaved changes stays in front.
  const typing = useUnsaved(
    ({ files }) => state.shown !== null && files.has(unsavedKey(session, state.shown)),
  );
  const follow = usePreferences((preferences) => preferences.follow);
  const target = usePanelLinks((links) => links.file);
  const go = (path: string, line: number) =>
    setState(({ paths, visit }) => ({
      paths: paths.includes(path) ? paths : [...paths.slice(-most + 1), path],
      shown: path,
      line,
      visit: visit + 1,
    }));
  const [seen, setSeen] = useState({ edit: 0, target: 0 });
  if ((follow || typing) && edit && edit.args.line > 0 && edit.seq !== seen.edit) {
    setSeen({ ...seen, edit: edit.seq });
    if (!typing && !edit.id?.startsWith(userCallPrefix)) go(edit.args.path, edit.args.line);
  } else if (target && target.serial > seen.target) {
    setSeen({ ...seen, target: target.serial });
    go(target.path, target.line);
  }
  const drop = (gone: (path: string) => boolean) =>
    setState((now) => {
      const paths = now.paths.filter((path) => !gone(path));
      const shown = now.shown !== null && gone(now.shown) ? (paths.at(-1) ?? null) : now.shown;
      return { ...now, paths, shown };
    });
  return {
    ...state,
    open: (path: string) => go(path, 0),
    close: (path: string) => drop((each) => each === path),
    /** Closes a file, or all files of a folder, that no longer exists. */
    leave: (path: string) => drop((each) => each === path || each.startsWith(`${path}/`)),
  };
}

import { useState } from 'react';
import { usePreferences } from '@/lib/preferences';
import { usePlaces } from '../sessions/places';
import { useView } from '../sessions/session-context';

interface Open {
  paths: readonly string[];
  shown: string | null;
  line: number;
  /** Counts visits, so that the same line can be gone to again. */
  visit: number;
}

const most = 8;

/** Files that are open as tabs; following the agent opens what it edits. */
export function useOpenFiles() {
  const [state, setState] = useState<Open>({ paths: [], shown: null, line: 1, visit: 0 });
  const edit = useView((view) => view.lastEdit);
  const follow = usePreferences((preferences) => preferences.follow);
  const place = usePlaces((places) => places.file);
  const go = (path: string, line: number) =>
    setState(({ paths, visit }) => ({
      paths: paths.includes(path) ? paths : [...paths.slice(-most + 1), path],
      shown: path,
      line,
      visit: visit + 1,
    }));
  const [seen, setSeen] = useState({ edit: 0, place: 0 });
  if (follow && edit && edit.args.line > 0 && edit.seq !== seen.edit) {
    setSeen({ ...seen, edit: edit.seq });
    go(edit.args.path, edit.args.line);
  } else if (place && place.serial > seen.place) {
    setSeen({ ...seen, place: place.serial });
    go(place.path, place.line);
  }
  return {
    ...state,
    open: (path: string) => go(path, 0),
    close: (path: string) =>
      setState((now) => {
        const paths = now.paths.filter((each) => each !== path);
        return { ...now, paths, shown: now.shown === path ? (paths.at(-1) ?? null) : now.shown };
      }),
  };
}

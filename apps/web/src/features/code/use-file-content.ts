import { useQuery } from '@tanstack/react-query';
import { useIsPast, useLog, useSessionId, useView } from '@/features/session-log/session-context';
import { fileQuery } from './file-content';

/** A file, now or at the displayed moment, and the session’s last edit if it is of this file. */
export function useFileContent(path: string) {
  const session = useSessionId();
  const past = useIsPast();
  const began = useLog(({ view }) => view.commits.values().next().value?.args.parent ?? null);
  const recordedStep = useView((view) => view.lastCommit);
  const edit = useView((view) => (view.lastEdit?.args.path === path ? view.lastEdit : undefined));
  // An edit is shown as soon as it landed, although its commit follows a little later in the log.
  const edited = useLog(({ view }) => (edit?.id ? view.commits.get(edit.id) : undefined));
  const step = recordedStep?.seq ?? 0;
  const latest = edited && edited.seq > step ? edited : recordedStep;
  const commit = latest?.args.commit ?? began;
  const content = useQuery(
    fileQuery({
      session,
      path,
      edit: Math.max(step, edit?.seq ?? 0),
      landed: edit && (edit.seq > step || recordedStep?.id === edit.id) ? edit.args : null,
      commit: past ? commit : null,
    }),
  );
  return { content, edit };
}

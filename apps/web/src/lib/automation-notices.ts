import { useEffect, useRef } from 'react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { AutomationInfo, ForgeSourceInfo } from '@belay/protocol';
import { notify } from '@/lib/notify';
import { usePreferences } from '@/lib/preferences';
import { useAdmin } from '@/lib/role';
import { client } from '@/lib/server';

/** Something of an automation that needs a user who manages them. The key is the same while it stays the same. */
export interface AutomationNotice {
  readonly key: string;
  readonly title: string;
  readonly text: string;
}

/** Also while the page is hidden, which is when the browser notifies. */
const everyMs = 60_000;
/** More at once are one notification. */
const mostAtOnce = 3;

const noticesQuery = queryOptions({
  queryKey: ['automation-notices'],
  queryFn: async () => {
    const [automations, sources] = await Promise.all([
      client.automations.list(),
      client.automations.sources(),
    ]);
    return noticesOf(automations, sources);
  },
  refetchInterval: everyMs,
  refetchIntervalInBackground: true,
});

/** Automations that paused themselves, runs that failed or are stuck, and repositories with a problem. */
export function noticesOf(
  automations: readonly AutomationInfo[],
  sources: readonly ForgeSourceInfo[],
): AutomationNotice[] {
  return [...automations.flatMap(noticesOfOne), ...sources.flatMap(problemOf)];
}

/** Asks the server for admins, and has the browser notify of each new notice once. `open` shows the automations. */
export function useAutomationNotices(open: () => void): void {
  const { data } = useQuery({ ...noticesQuery, enabled: useAdmin() });
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (!data) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...data.map(({ key }) => key)]);
    // What was there when the page was opened is in the list.
    const fresh = before ? data.filter(({ key }) => !before.has(key)) : [];
    const shown = fresh.length > mostAtOnce ? [together(fresh)] : fresh;
    for (const { key, title, text } of shown) notify({ title, body: text, tag: key, open });
  }, [data, open]);
}

/** How many notices the user has not seen yet. */
export function useUnseenAutomationNotices(): number {
  const { data = [] } = useQuery({ ...noticesQuery, enabled: false });
  const seen = usePreferences((preferences) => preferences.seenNotices);
  return data.filter(({ key }) => !seen.includes(key)).length;
}

/** Takes all notices as seen, as the page that shows their reasons does. */
export function useSeeAutomationNotices(): void {
  const { data } = useQuery({ ...noticesQuery, enabled: false });
  useEffect(() => {
    if (data) usePreferences.getState().set({ seenNotices: data.map(({ key }) => key) });
  }, [data]);
}

function noticesOfOne({ name, state, why, updated, latest }: AutomationInfo): AutomationNotice[] {
  const paused = {
    key: `paused ${name} ${updated}`,
    title: `${name} paused itself`,
    text: why ?? '',
  };
  const runs = latest.flatMap((run): AutomationNotice[] => {
    const { id, lane, subject, code } = run;
    const text = run.why ?? '';
    if (run.state === 'failed')
      return [{ key: `run ${id}`, title: `${name} failed: ${subject}`, text }];
    // Each further event of a stuck lane is skipped for the same reason.
    return code === 'stuck'
      ? [{ key: `stuck ${name} ${lane}`, title: `${name} is stuck: ${subject}`, text }]
      : [];
  });
  const unique = new Map(
    [...(state === 'broken' ? [paused] : []), ...runs].map((one) => [one.key, one]),
  );
  return [...unique.values()];
}

const problemOf = ({ id, host, repository, problem }: ForgeSourceInfo): AutomationNotice[] =>
  problem === null
    ? []
    : [
        {
          // Its words may change with each try.
          key: `source ${id}`,
          title: `${host}/${repository} has a problem`,
          text: problem,
        },
      ];

const together = (notices: readonly AutomationNotice[]): AutomationNotice => ({
  key: 'automations',
  title: `${notices.length} things of automations need you`,
  text: notices.map(({ title }) => title).join('\n'),
});

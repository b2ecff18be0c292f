import {
  mountWords,
  wallSeconds,
  clockText,
  countText,
  dollarsText,
  durationText,
} from '@belay/protocol';
import { Empty } from '@/components/ui/empty';
import { Meter } from '@/components/ui/meter';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { useSummary } from '@/features/session-log/summaries';
import { useSessionTime } from '@/features/session-log/use-session-time';

/** Tokens, cost, how full the context is, and how much of each budget is used. */
export function UsagePanel() {
  const summary = useSummary(useSessionId());
  const usage = useView((view) => view.usage);
  const now = useSessionTime(5_000);
  const last = usage.at(-1)?.args;
  if (!summary) return null;
  const { budgets } = summary;
  const cached = usage.reduce((sum, each) => sum + each.args.cachedTokens, 0);
  const output = usage.reduce((sum, each) => sum + each.args.outputTokens, 0);
  const seconds = wallSeconds(summary.wallTime, now);
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="Tokens and cost"
      className="h-full space-y-4 overflow-y-auto p-3 text-sm"
    >
      <div className="space-y-2">
        <UsageRow label="Model" text={summary.model} />
        <UsageRow label="Sandbox" text={summary.sandbox} />
        {summary.mounts.length > 0 && (
          <UsageRow label="Host folders" text={summary.mounts.map(mountWords).join('; ')} />
        )}
        <UsageRow
          label="Context"
          text={`${countText(last?.contextTokens ?? summary.contextTokens)}${summary.contextWindow ? ` of ${countText(summary.contextWindow)} tokens` : ' tokens'}`}
          meter={
            summary.contextWindow && [
              last?.contextTokens ?? summary.contextTokens,
              summary.contextWindow,
            ]
          }
        />
        <UsageRow
          label="Steps"
          text={limited(String(summary.steps), budgets.steps)}
          meter={budgets.steps && [summary.steps, budgets.steps]}
        />
        <UsageRow
          label="Cost"
          text={limited(
            dollarsText(summary.dollars),
            budgets.dollars && dollarsText(budgets.dollars),
          )}
          meter={budgets.dollars && [summary.dollars, budgets.dollars]}
        />
        <UsageRow
          label="Tokens"
          text={`${limited(countText(summary.tokens), budgets.tokens && countText(budgets.tokens))} · ${countText(output)} output · ${countText(cached)} cached`}
          meter={budgets.tokens && [summary.tokens, budgets.tokens]}
        />
        {budgets.seconds !== null && (
          <UsageRow
            label="Time"
            text={limited(durationText(seconds), durationText(budgets.seconds))}
            meter={[seconds, budgets.seconds]}
          />
        )}
      </div>
      {usage.length === 0 ? (
        <Empty title="No model calls yet">Each call appears here with its tokens and cost.</Empty>
      ) : (
        <Calls usage={usage} />
      )}
    </div>
  );
}

const limited = (used: string, limit: string | number | null): string =>
  limit === null ? used : `${used} of ${limit}`;

interface UsageRowProps {
  label: string;
  text: string;
  meter?: readonly [number, number] | number | null;
}

function UsageRow({ label, text, meter }: UsageRowProps) {
  return (
    <div>
      <div className="flex justify-between gap-3">
        <span className="text-faint">{label}</span>
        <span className="truncate tabular-nums" title={text}>
          {text}
        </span>
      </div>
      {Array.isArray(meter) && (
        <Meter label={label} value={meter[0] as number} max={meter[1] as number} />
      )}
    </div>
  );
}

function Calls({ usage }: { usage: ReturnType<typeof useUsage> }) {
  return (
    <table className="w-full text-xs tabular-nums">
      <caption className="sr-only">Latest model calls</caption>
      <thead className="text-left text-faint">
        <tr>
          <th className="font-normal">Time</th>
          <th className="text-right font-normal">Prompt</th>
          <th className="text-right font-normal">Reply</th>
          <th className="text-right font-normal">Cost</th>
        </tr>
      </thead>
      <tbody>
        {usage
          .slice(-100)
          .toReversed()
          .map(({ seq, time, args }) => (
            <tr key={seq} className="border-t">
              <td className="py-0.5">{clockText(time)}</td>
              <td className="text-right">{countText(args.inputTokens)}</td>
              <td className="text-right">{countText(args.outputTokens)}</td>
              <td className="text-right">
                {args.dollars === null ? 'unknown' : dollarsText(args.dollars)}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

const useUsage = () => useView((view) => view.usage);

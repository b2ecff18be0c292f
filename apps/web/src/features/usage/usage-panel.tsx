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
import type { LogView } from '@/features/session-log/log-view';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { useSummary } from '@/lib/summaries';
import { useSessionTime } from '@/features/session-log/use-session-time';

/** Tokens, cost, context size, and how much of each budget is used. */
export function UsagePanel() {
  const summary = useSummary(useSessionId());
  const usage = useView((view) => view.usage);
  const now = useSessionTime(5_000);
  if (!summary) return null;
  const { budgets, contextWindow } = summary;
  // A text that was drafted for the user is not part of the conversation.
  const turns = usage.filter(({ args }) => args.purpose !== 'draft');
  const context = turns.at(-1)?.args.contextTokens ?? summary.contextTokens;
  const cached = usage.reduce((sum, each) => sum + each.args.cachedTokens, 0);
  const output = usage.reduce((sum, each) => sum + each.args.outputTokens, 0);
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="Tokens and cost"
      className="h-full space-y-4 overflow-y-auto p-3 text-sm"
    >
      <div className="space-y-2">
        <TextRow label="Model" text={summary.model} />
        <TextRow label="Sandbox" text={summary.sandbox} />
        {summary.mounts.length > 0 && (
          <TextRow label="Host folders" text={summary.mounts.map(mountWords).join('; ')} />
        )}
        <LimitRow
          label="Context"
          used={context}
          limit={contextWindow}
          format={countText}
          suffix=" tokens"
        />
        <LimitRow label="Steps" used={summary.steps} limit={budgets.steps} format={String} />
        <LimitRow
          label="Cost"
          used={summary.dollars}
          limit={budgets.dollars}
          format={dollarsText}
        />
        <LimitRow
          label="Tokens"
          used={summary.tokens}
          limit={budgets.tokens}
          format={countText}
          suffix={` · ${countText(output)} output · ${countText(cached)} cached`}
        />
        {budgets.seconds !== null && (
          <LimitRow
            label="Time"
            used={wallSeconds(summary.wallTime, now)}
            limit={budgets.seconds}
            format={durationText}
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

interface LimitRowProps {
  label: string;
  used: number;
  limit: number | null;
  format(figure: number): string;
  suffix?: string;
}

function LimitRow({ label, used, limit, format, suffix = '' }: LimitRowProps) {
  const text = limit === null ? format(used) : `${format(used)} of ${format(limit)}`;
  return (
    <div>
      <TextRow label={label} text={text + suffix} />
      {limit !== null && limit > 0 && <Meter label={label} value={used} max={limit} />}
    </div>
  );
}

const TextRow = ({ label, text }: { label: string; text: string }) => (
  <div className="flex justify-between gap-3">
    <span className="text-faint">{label}</span>
    <span className="truncate tabular-nums" title={text}>
      {text}
    </span>
  </div>
);

function Calls({ usage }: Pick<LogView, 'usage'>) {
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

import { Empty } from '@/components/ui/empty';
import { Meter } from '@/components/ui/meter';
import { clock, count, dollars, duration } from '@/lib/format';
import { useNow } from '@/lib/clock';
import { useSessionId, useView } from './session-context';
import { useSummary } from './queries';

/** Tokens, cost, how full the context is, and how much of each budget is used. */
export function UsagePanel() {
  const summary = useSummary(useSessionId());
  const usage = useView((view) => view.usage);
  const now = useNow(5_000);
  const last = usage.at(-1)?.args;
  if (!summary) return null;
  const { budgets } = summary;
  const cached = usage.reduce((sum, each) => sum + each.args.cachedTokens, 0);
  const output = usage.reduce((sum, each) => sum + each.args.outputTokens, 0);
  const seconds = (now - Date.parse(summary.created)) / 1_000;
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="Tokens and cost"
      className="h-full space-y-4 overflow-y-auto p-3 text-sm"
    >
      <div className="space-y-2">
        <Line label="Model" text={summary.model} />
        <Line label="Sandbox" text={summary.sandbox} />
        <Line
          label="Context"
          text={`${count(last?.contextTokens ?? summary.contextTokens)}${summary.contextWindow ? ` of ${count(summary.contextWindow)} tokens` : ' tokens'}`}
          meter={
            summary.contextWindow && [
              last?.contextTokens ?? summary.contextTokens,
              summary.contextWindow,
            ]
          }
        />
        <Line
          label="Steps"
          text={limited(String(summary.steps), budgets.steps)}
          meter={budgets.steps && [summary.steps, budgets.steps]}
        />
        <Line
          label="Cost"
          text={limited(dollars(summary.dollars), budgets.dollars && dollars(budgets.dollars))}
          meter={budgets.dollars && [summary.dollars, budgets.dollars]}
        />
        <Line
          label="Tokens"
          text={`${limited(count(summary.tokens), budgets.tokens && count(budgets.tokens))} · ${count(output)} written · ${count(cached)} from cache`}
          meter={budgets.tokens && [summary.tokens, budgets.tokens]}
        />
        {budgets.seconds !== null && (
          <Line
            label="Time"
            text={limited(duration(seconds), duration(budgets.seconds))}
            meter={[seconds, budgets.seconds]}
          />
        )}
      </div>
      {usage.length === 0 ? (
        <Empty title="No call of the model yet">
          Each call appears here with its tokens and cost.
        </Empty>
      ) : (
        <Calls usage={usage} />
      )}
    </div>
  );
}

const limited = (used: string, limit: string | number | null): string =>
  limit === null ? used : `${used} of ${limit}`;

interface LineProps {
  label: string;
  text: string;
  meter?: readonly [number, number] | number | null;
}

function Line({ label, text, meter }: LineProps) {
  return (
    <div>
      <div className="flex justify-between gap-3">
        <span className="text-faint">{label}</span>
        <span className="truncate tabular-nums">{text}</span>
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
      <caption className="sr-only">The last calls of the model</caption>
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
              <td className="py-0.5">{clock(time)}</td>
              <td className="text-right">{count(args.inputTokens)}</td>
              <td className="text-right">{count(args.outputTokens)}</td>
              <td className="text-right">
                {args.dollars === null ? 'unknown' : dollars(args.dollars)}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

const useUsage = () => useView((view) => view.usage);

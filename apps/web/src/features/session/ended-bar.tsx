import { isEnded, type SessionState } from '@belay/protocol';
import { Link } from '@tanstack/react-router';
import { Button } from '@/components/ui/button';
import {
  runControl,
  sessionControls,
  type SessionControl,
} from '@/features/session-controls/session-controls';
import type { LogView } from '@/features/session-log/log-view';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { useSummary } from '@/lib/summaries';
import { useReadOnly } from '@/lib/role';
import { stripMarkdown } from '@/lib/strip-markdown';

const words: Partial<Record<SessionState, string>> = {
  failed: 'This session failed.',
  limited: 'This session reached a limit.',
  stopped: 'This session was stopped.',
};

/** Whether the session failed with an error that settings of models may fix. */
const failedByModel = ({ error, state }: LogView): boolean =>
  error !== undefined && state?.seq === error.seq + 1 && modelFaults.has(error.args.code);

const modelFaults = new Set(['model_failed', 'unauthorized', 'unavailable']);

const offeredAtEnd: readonly SessionControl[] = [
  sessionControls.raiseLimits,
  sessionControls.restart,
];

/** Why a session ended without finishing, and how to continue. */
export function EndedBar() {
  const readOnly = useReadOnly();
  const id = useSessionId();
  const summary = useSummary(id);
  const isModelFault = useView(failedByModel);
  if (readOnly || !summary || !isEnded(summary.state) || summary.state === 'finished') return null;
  const reason = stripMarkdown(summary.reason ?? '');
  return (
    <div className="flex shrink-0 items-center gap-3 border-t bg-sunken px-4 py-1.5 text-sm">
      <p className="line-clamp-2 min-w-0 flex-1 break-words" title={reason}>
        <span className="font-medium">{words[summary.state]}</span>{' '}
        <span className="text-muted">
          {reason || 'Send a message to continue.'} Its log and files are kept.
        </span>
      </p>
      {summary.state === 'failed' && isModelFault && (
        <Link to="/settings" search={{ section: 'models' }} className="shrink-0 underline">
          Models and keys
        </Link>
      )}
      {offeredAtEnd
        .filter(({ offered }) => offered(summary))
        .map((control) => (
          <Button key={control.label} small onClick={() => runControl(control, summary)}>
            {control.label}
          </Button>
        ))}
    </div>
  );
}

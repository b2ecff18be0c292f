import { isEnded, visibleText, type SessionState } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { VisibleText } from '@/components/ui/visible-text';
import {
  runControl,
  sessionControls,
  type SessionControl,
} from '@/features/session-controls/session-controls';
import { useSessionId } from '@/features/session-log/session-context';
import { useSummary } from '@/lib/summaries';
import { useReadOnly } from '@/lib/role';
import { stripMarkdown } from '@/lib/strip-markdown';

const words: Partial<Record<SessionState, string>> = {
  failed: 'This session failed.',
  limited: 'This session reached a limit.',
  stopped: 'This session was stopped.',
};

const offeredAtEnd: readonly SessionControl[] = [
  sessionControls.raiseLimits,
  sessionControls.restart,
];

/** Why a session ended without finishing, and how to continue. */
export function EndedBar() {
  const readOnly = useReadOnly();
  const id = useSessionId();
  const summary = useSummary(id);
  if (readOnly || !summary || !isEnded(summary.state) || summary.state === 'finished') return null;
  const reason = stripMarkdown(summary.reason ?? '');
  return (
    <div className="flex shrink-0 items-center gap-x-3 gap-y-1.5 border-t bg-sunken px-4 py-1.5 text-sm max-md:flex-wrap">
      <p
        className="line-clamp-2 min-w-0 flex-1 break-words max-md:basis-full"
        title={visibleText(reason)}
      >
        <span className="font-medium">{words[summary.state]}</span>{' '}
        <span className="text-muted">
          <VisibleText text={reason || 'Send a message to continue.'} /> Its log and files are kept.
        </span>
      </p>
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

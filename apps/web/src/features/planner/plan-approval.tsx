import { useState } from 'react';
import { Check, Pencil } from 'lucide-react';
import type { SessionSummary } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { TextArea } from '@/components/ui/field';
import { approvalControls, performControl } from '@/features/session-controls/session-controls';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { useSessionId } from '@/features/session-log/session-context';
import { client } from '@/lib/server';
import { summaryNow, useSummaryPart } from '@/lib/summaries';
import { toastError } from '@/lib/toasts';

/** Approves the plan of a session that plans first, as it is or as the user changed it. */
export function PlanApproval({ markdown }: { markdown: string }) {
  const session = useSessionId();
  const plansFirst = useSummaryPart(session, isPlanning);
  const mayApprove = useCanAct();
  const [edited, setEdited] = useState<string | null>(null);
  // The approval has two parts: until both are done, it can be repeated.
  const [progress, setProgress] = useState<'none' | 'begun' | 'failed'>('none');
  if (!mayApprove || (!plansFirst && progress === 'none')) return null;
  const approve = async () => {
    setProgress('begun');
    try {
      const summary = summaryNow(session);
      if (summary && isPlanning(summary)) await performControl(approvalControls.ask, summary);
      await client.sessions.message(session, { text: approvalOf(markdown, edited) });
      setProgress('none');
      setEdited(null);
    } catch (error) {
      setProgress('failed');
      toastError(error);
    }
  };
  return (
    <div className="mb-3 space-y-2 rounded-md border border-amber-fill bg-amber-soft p-2">
      <p>Nothing is changed until you approve the plan. Then the agent asks before commands.</p>
      {edited !== null && (
        <TextArea
          autoFocus
          aria-label="The plan, to be changed"
          className="font-mono text-xs"
          value={edited}
          onChange={(event) => setEdited(event.target.value)}
        />
      )}
      <div className="flex gap-2">
        <Button
          small
          look="amber"
          disabled={progress === 'begun' || edited?.trim() === ''}
          onClick={() => void approve()}
        >
          <Check size={13} aria-hidden /> {edited === null ? 'Approve plan' : 'Approve this plan'}
        </Button>
        {edited === null ? (
          <Button small onClick={() => setEdited(markdown)}>
            <Pencil size={13} aria-hidden /> Edit…
          </Button>
        ) : (
          <Button small look="ghost" onClick={() => setEdited(null)}>
            Cancel
          </Button>
        )}
      </div>
    </div>
  );
}

const isPlanning = ({ approvals }: SessionSummary): boolean => approvals === 'plan';

/** The message that tells the agent to begin. */
const approvalOf = (markdown: string, edited: string | null): string =>
  edited === null || edited.trim() === markdown.trim()
    ? 'I approve the plan. Carry it out.'
    : `I changed the plan and approve it like this:\n\n${edited.trim()}\n\nCarry it out.`;

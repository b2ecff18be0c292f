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
  const [isBusy, setBusy] = useState(false);
  if (!mayApprove || !plansFirst) return null;
  const approve = async () => {
    setBusy(true);
    try {
      // The agent knows the plan before it may carry it out; until then, the approval can be repeated.
      const text = approvalOf(markdown, edited);
      await client.sessions.message(session, { text, delivery: 'steer' });
      const summary = summaryNow(session);
      if (summary && isPlanning(summary)) await performControl(approvalControls.ask, summary);
      setEdited(null);
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
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
          disabled={isBusy || edited?.trim() === ''}
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

/** The message that tells the agent to begin, with the plan that the user saw: the agent may have another by now. */
function approvalOf(markdown: string, edited: string | null): string {
  const plan = (edited ?? markdown).trim();
  const begin =
    plan === markdown.trim()
      ? 'I approve this plan'
      : 'I changed the plan and approve it like this';
  return `${begin}:\n\n${plan}\n\nCarry it out.`;
}

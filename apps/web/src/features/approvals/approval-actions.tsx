import { useState } from 'react';
import type { ApprovalAnswer, ApprovalRequest } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useReadOnly } from '@/lib/role';
import { AlwaysForm } from './always-form';

/** The three answers to a question that waits: once, always (a rule), no (with a reason). */
export function ApprovalActions({
  session,
  request,
}: {
  session: string;
  request: ApprovalRequest;
}) {
  const readOnly = useReadOnly();
  const [mode, setMode] = useState<'choose' | 'always' | 'no'>('choose');
  const [sent, setSent] = useState(false);
  const answer = (value: ApprovalAnswer) => {
    setSent(true);
    attempt(async () => {
      try {
        await client.sessions.answer(session, request.id, value);
      } finally {
        setSent(false);
      }
    });
  };
  if (readOnly) return null;
  if (mode === 'always')
    return (
      <AlwaysForm
        session={session}
        request={request}
        onCancel={() => setMode('choose')}
        onAnswer={(remember) => answer({ verdict: 'approved', remember })}
      />
    );
  if (mode === 'no')
    return (
      <NoForm
        onCancel={() => setMode('choose')}
        onAnswer={(reason) => answer({ verdict: 'rejected', ...(reason && { reason }) })}
      />
    );
  return (
    <div className="flex flex-wrap gap-2">
      <Button look="amber" small disabled={sent} onClick={() => answer({ verdict: 'approved' })}>
        Allow once
      </Button>
      <Button small disabled={sent} onClick={() => setMode('always')}>
        Always…
      </Button>
      <Button look="danger" small disabled={sent} onClick={() => setMode('no')}>
        No
      </Button>
    </div>
  );
}

function NoForm({ onAnswer, onCancel }: { onAnswer(reason: string): void; onCancel(): void }) {
  const [reason, setReason] = useState('');
  return (
    <form
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(reason.trim());
      }}
    >
      <Input
        autoFocus
        aria-label="Why not"
        placeholder="Why not, or what to do instead (the agent reads this)"
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        className="h-7 min-w-48 flex-1 max-md:h-8"
      />
      <Button small type="submit" look="danger">
        Do not allow
      </Button>
      <Button small look="ghost" onClick={onCancel}>
        Back
      </Button>
    </form>
  );
}

import { useState } from 'react';
import {
  calledOperation,
  hostSets,
  hostSetsWith,
  hostsOfSet,
  operationNamed,
  type ApprovalAnswer,
  type ApprovalRequest,
  type HostSetName,
} from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { useMayAnswer } from '@/lib/new-questions';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { AlwaysForm } from './always-form';
import { EditForm } from './edit-form';

/**
 * The answers to an approval request: allow once, always allow (by a rule), allow with a change, or
 * deny (with a reason).
 */
export function ApprovalActions({
  session,
  request,
}: {
  session: string;
  request: ApprovalRequest;
}) {
  const readOnly = useReadOnly();
  const [mode, setMode] = useState<'choose' | 'always' | 'deny' | 'edit'>('choose');
  const [sent, setSent] = useState(false);
  const mayAnswer = useMayAnswer(session, request.id);
  const answer = (value: ApprovalAnswer) => {
    if (sent) return;
    setSent(true);
    attempt(async () => {
      try {
        await client.sessions.answer(session, request.id, value);
      } catch (error) {
        setSent(false);
        throw error;
      }
    });
  };
  // Allows with a single click, so only once the user had time to read the request.
  const allow = (remember?: ApprovalAnswer['remember']) =>
    mayAnswer && answer({ verdict: 'approved', ...(remember && { remember }) });
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
  if (mode === 'deny')
    return (
      <DenyForm
        onCancel={() => setMode('choose')}
        onAnswer={(reason) => answer({ verdict: 'rejected', ...(reason && { reason }) })}
      />
    );
  const changeable = editableField(request);
  const editable = request.fixed ? null : changeable;
  if (mode === 'edit' && editable)
    return (
      <EditForm
        {...editable}
        onCancel={() => setMode('choose')}
        onAnswer={(text) => answer({ verdict: 'approved', edited: { [editable.field]: text } })}
      />
    );
  return (
    <div className="flex flex-wrap gap-2">
      <Button look="amber" small disabled={sent} aria-disabled={!mayAnswer} onClick={() => allow()}>
        Allow once
      </Button>
      <HostSetButtons request={request} disabled={sent} mayAnswer={mayAnswer} onAllow={allow} />
      <Button small disabled={sent} onClick={() => setMode('always')}>
        Always…
      </Button>
      {editable && (
        <Button small disabled={sent} onClick={() => setMode('edit')}>
          Edit…
        </Button>
      )}
      <Button look="danger" small disabled={sent} onClick={() => setMode('deny')}>
        Deny…
      </Button>
      {request.fixed && changeable && (
        <p className="basis-full text-xs text-muted">
          The agent runs this itself, so you cannot edit it. To change it, deny it and say what to
          do instead.
        </p>
      )}
    </div>
  );
}

interface HostSetButtonsProps {
  request: ApprovalRequest;
  disabled: boolean;
  mayAnswer: boolean;
  onAllow(remember: ApprovalAnswer['remember']): void;
}

/** Allows a refused host together with all others of its package manager. */
function HostSetButtons({ request, disabled, mayAnswer, onAllow }: HostSetButtonsProps) {
  return setsOf(request).map((name) => (
    <Button
      key={name}
      small
      disabled={disabled}
      aria-disabled={!mayAnswer}
      title={`In this session: ${hostsOfSet(name).join(', ')}`}
      onClick={() => onAllow(ruleFor(name))}
    >
      Allow all {hostSets[name].title} hosts
    </Button>
  ));
}

/** The host sets that contain the refused host. */
const setsOf = ({ operation, subject }: ApprovalRequest): HostSetName[] =>
  calledOperation(operation) ? [] : hostSetsWith(subject);

const ruleFor = (name: HostSetName) =>
  ({ scope: 'session', operation: 'egress', pattern: `@${name}`, expires: null }) as const;

/** The field of the call that the user may change before allowing it, with its present text. */
function editableField({ operation, input }: ApprovalRequest) {
  const [field] = operationNamed(operation)?.editable ?? [];
  if (field === undefined || typeof input !== 'object' || input === null) return null;
  const text = (input as Record<string, unknown>)[field];
  // A longer text may have been shortened for the list of sessions.
  return typeof text === 'string' && text.length < mostEdited ? { field, text } : null;
}

const mostEdited = 2_000;

function DenyForm({ onAnswer, onCancel }: { onAnswer(reason: string): void; onCancel(): void }) {
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
        aria-label="Reason"
        placeholder="Reason or advice (optional)"
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        className="h-7 min-w-48 flex-1 max-md:h-8"
      />
      <Button small type="submit" look="danger">
        Deny
      </Button>
      <Button small look="ghost" onClick={onCancel}>
        Back
      </Button>
    </form>
  );
}

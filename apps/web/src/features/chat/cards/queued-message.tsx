import { useState } from 'react';
import { Pencil, Undo2 } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { TextArea } from '@/components/ui/field';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

interface QueuedMessageProps {
  session: string;
  /** Its sequence number in the log. */
  message: number;
  text: string;
  /** False once it was delivered: an open edit stays, but the server refuses to save it. */
  queued: boolean;
}

/** Edits or withdraws a message that has not been delivered to the agent yet. */
export function QueuedMessage({ session, message, text, queued }: QueuedMessageProps) {
  const [draft, setDraft] = useState<string | null>(null);
  if (draft === null)
    return !queued ? null : (
      <div className="mt-1 -ml-2 flex gap-1">
        <Button small look="ghost" onClick={() => setDraft(text)}>
          <Pencil size={12} aria-hidden /> Edit
        </Button>
        <Button
          small
          look="ghost"
          onClick={() =>
            attempt(() => client.sessions.withdrawMessage(session, `${message}`), 'Withdrawn.')
          }
        >
          <Undo2 size={12} aria-hidden /> Withdraw
        </Button>
      </div>
    );
  const save = async () => {
    const next = draft.trim();
    if (next === '') return;
    if (next !== text) await client.sessions.editMessage(session, `${message}`, { text: next });
    setDraft(null);
  };
  return (
    <form
      className="mt-2 space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        attempt(save);
      }}
    >
      <TextArea
        autoFocus
        aria-label="Text of the queued message"
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && setDraft(null)}
      />
      <div className="flex gap-2">
        <Button small look="solid" type="submit" disabled={draft.trim() === ''}>
          Save
        </Button>
        <Button small look="ghost" onClick={() => setDraft(null)}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

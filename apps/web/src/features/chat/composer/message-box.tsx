import { useRef, useState, type KeyboardEvent } from 'react';
import { isEnded, type SessionState } from '@belay/protocol';
import { Paperclip, SendHorizontal } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { IconButton } from '@/components/ui/icon-button';
import { runControl, sessionControls } from '@/features/session-controls/session-controls';
import { useFilePaths } from '@/features/session-files/files-query';
import { useIsPast, useSessionId } from '@/features/session-log/session-context';
import { summaryNow, useSessionState } from '@/lib/summaries';
import { toastError } from '@/lib/toasts';
import { Attachments } from './attachments';
import { Completions, useCompletions } from './completions';
import { sendMessage } from './send-message';
import { runSlashCommand, slashCommands } from './slash-commands';
import { useAttachments } from './use-attachments';
import { useMessageText } from './use-message-text';

const deliveries = [
  { value: 'queue', label: 'After this turn' },
  { value: 'next', label: 'With the next results' },
  { value: 'steer', label: 'Now' },
] as const;
type Delivery = (typeof deliveries)[number]['value'];

/** The form for messages to the agent, with attachments and slash commands. */
export function MessageBox() {
  const id = useSessionId();
  const state = useSessionState(id);
  const past = useIsPast();
  const { text, setText, browse } = useMessageText();
  const [delivery, setDelivery] = useState<Delivery>('queue');
  const field = useRef<HTMLTextAreaElement>(null);
  const attached = useAttachments();
  const files = useFilePaths(text.includes('@'));
  const completions = useCompletions({ text, setText, field, files, commands: slashCommands });
  const working = state === 'running';
  const paused = state === 'paused';

  const send = async (now?: 'steer') => {
    const written = text.trim();
    if (!written && !attached.items.length) return;
    setText('');
    const message = { text: written, delivery: working ? (now ?? delivery) : 'queue' };
    try {
      if (await runSlashCommand(id, written)) return;
      await sendMessage(id, message, attached.take());
      if (paused) runControl(sessionControls.resume, summaryNow(id));
    } catch (error) {
      setText(written);
      toastError(error);
    }
  };
  /** Breaks off what the agent is doing: for the message that was written, or to wait for one. */
  const breakOff = () => {
    if (text.trim() !== '') return void send('steer');
    runControl(sessionControls.interrupt, summaryNow(id));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (completions.onKeyDown(event)) return;
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if ((step === 1 || step === -1) && browse(step)) return event.preventDefault();
    if (event.key === 'Escape' && working) return breakOff();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };

  return (
    <form
      className="relative border-t p-3"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        attached.add([...event.dataTransfer.files]);
      }}
    >
      <Completions {...completions} />
      <div className="rounded-lg border border-line-strong bg-panel focus-within:border-amber">
        <Attachments items={attached.items} onRemove={attached.remove} />
        <textarea
          ref={field}
          id="message"
          aria-label="Message to the agent"
          aria-autocomplete="list"
          rows={2}
          value={text}
          disabled={past}
          placeholder={past ? 'Go to the live end to write a message' : hint(state)}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={attached.paste}
          className="field-sizing-content block max-h-60 min-h-14 w-full resize-none bg-transparent px-3 py-2 outline-none"
        />
        <MessageTools
          disabled={past}
          paused={paused}
          delivery={working ? delivery : null}
          onDelivery={setDelivery}
          onAttach={attached.choose}
        />
      </div>
    </form>
  );
}

interface MessageToolsProps {
  disabled: boolean;
  /** Whether sending also resumes the session. */
  paused: boolean;
  /** Null while the agent is not working, when there is nothing to choose. */
  delivery: Delivery | null;
  onDelivery(delivery: Delivery): void;
  onAttach(): void;
}

function MessageTools({ disabled, paused, delivery, onDelivery, onAttach }: MessageToolsProps) {
  return (
    <div className="flex items-center gap-2 px-2 pb-2">
      <IconButton label="Attach files" icon={Paperclip} onClick={onAttach} disabled={disabled} />
      {delivery && (
        <Choice<Delivery>
          label="When the agent reads it"
          value={delivery}
          options={deliveries}
          onChange={onDelivery}
        />
      )}
      <Button small look="solid" type="submit" disabled={disabled} className="ml-auto">
        <SendHorizontal size={13} aria-hidden /> {paused ? 'Send and resume' : 'Send'}
      </Button>
    </div>
  );
}

function hint(state: SessionState | undefined): string {
  const help = '@ for files, / for commands';
  if (state && isEnded(state)) return `Send a message to continue; ${help}`;
  return state === 'running'
    ? `Message the agent; ${help}, Esc to interrupt`
    : `Message the agent; ${help}`;
}

import { lazy, Suspense } from 'react';
import { Download, Hand, Plus, Undo2 } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Empty, Loading } from '@/components/ui/empty';
import { IconButton } from '@/components/ui/icon-button';
import { cx } from '@/lib/classes';
import { client, live } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useChosen, usePlaces } from '../sessions/places';
import { useTitle } from '../sessions/queries';
import { useActs } from '../sessions/use-acts';
import {
  useIsPast,
  useLog,
  useSessionContext,
  useSessionId,
  useView,
} from '../sessions/session-context';
import { saveRecording } from './recording';
import { nextName, terminalNames } from './names';

const TerminalView = lazy(async () => ({
  default: (await import('./terminal-view')).TerminalView,
}));

export function TerminalPanel() {
  const buffers = useLog((log) => log.terminals);
  const known = useView((view) => view.terminals);
  const names = terminalNames(buffers, known);
  const place = usePlaces((places) => places.terminal);
  const [chosen, setChosen] = useChosen(place, ({ name }) => name, 'main');
  const shown = names.includes(chosen) ? chosen : names[0];
  if (!shown)
    return (
      <Empty title="No terminal yet">
        What the agent’s commands print appears here, byte for byte. You can type along once one is
        open.
      </Empty>
    );
  return (
    <div className="flex h-full flex-col">
      <TerminalBar names={names} shown={shown} onChoose={setChosen} />
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Loading what="the terminal" />}>
          <TerminalView key={shown} name={shown} />
        </Suspense>
      </div>
    </div>
  );
}

interface TerminalBarProps {
  names: readonly string[];
  shown: string;
  onChoose(name: string): void;
}

function TerminalBar({ names, shown, onChoose }: TerminalBarProps) {
  const session = useSessionId();
  const { log } = useSessionContext();
  const title = useTitle(session) ?? 'session';
  const acts = useActs();
  return (
    <div className="flex h-8 shrink-0 items-center gap-1 border-b px-2">
      <div
        role="group"
        aria-label="Terminals"
        className="flex min-w-0 flex-1 items-center gap-0.5 overflow-x-auto"
      >
        {names.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === shown}
            onClick={() => onChoose(name)}
            className={cx(
              'h-6 rounded-sm px-2 font-mono text-xs',
              name === shown ? 'bg-hover text-ink' : 'text-muted hover:text-ink',
            )}
          >
            {name}
          </button>
        ))}
        {acts && (
          <IconButton
            label="Open a terminal"
            icon={Plus}
            className="size-6"
            onClick={() => {
              const name = nextName(names);
              attempt(async () => {
                await live().request('terminal.open', { session, terminal: name });
                onChoose(name);
              });
            }}
          />
        )}
      </div>
      <IconButton
        label="Save as a recording (asciicast)"
        icon={Download}
        className="size-6"
        onClick={() =>
          attempt(() =>
            saveRecording({
              session,
              title,
              terminal: shown,
              events: log.getState().events,
              load: client.sessions.terminal,
            }),
          )
        }
      />
      <Holder terminal={shown} />
    </div>
  );
}

/** Who types, and the way to change it. */
function Holder({ terminal }: { terminal: string }) {
  const session = useSessionId();
  const past = useIsPast();
  const acts = useActs();
  const holder = useView((view) => view.terminals.get(terminal)?.holder ?? 'agent');
  const hold = (next: 'agent' | 'user') =>
    attempt(() => live().request('terminal.hold', { session, terminal, holder: next }));
  if (past) return <span className="text-xs text-faint">replay</span>;
  if (!acts) return null;
  return holder === 'user' ? (
    <>
      <span className="text-xs text-amber">you type</span>
      <Button small onClick={() => hold('agent')}>
        <Undo2 size={12} aria-hidden /> Hand back
      </Button>
    </>
  ) : (
    <>
      <span className="text-xs text-faint max-sm:hidden">agent types</span>
      <Button small onClick={() => hold('user')}>
        <Hand size={12} aria-hidden /> Take over
      </Button>
    </>
  );
}

import type { Event } from '@belay/protocol';
import { FileCode, GitCommitHorizontal, History, SquareTerminal } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { Result } from '../sessions/log-view';
import { showFile, showStep, showTerminal } from '../sessions/places';
import { lookAt, useSessionContext, useView } from '../sessions/session-context';
import { textOf } from './text-of';

/** Where a call can be seen: in its terminal, in its file, in the history, in time. */
export function CallLinks({ event, result }: { event: Event; result: Result | undefined }) {
  const context = useSessionContext();
  const commit = useView((view) => view.commits.get(event.id ?? ''));
  const edit = useView((view) => view.edits.get(event.id ?? '')?.[0]);
  const output = result?.args.output as { terminal?: unknown; from?: unknown } | undefined;
  const terminal = textOf(output?.terminal) || textOf(event.args['terminal']);
  const path = edit?.args.path ?? textOf(event.args['path']);
  return (
    <div className="flex flex-wrap gap-1 border-t px-2 py-1">
      {terminal && event.action.startsWith('terminal.') && (
        <Link icon={SquareTerminal} onClick={() => showTerminal(terminal, numberOf(output?.from))}>
          In the terminal
        </Link>
      )}
      {path && event.action.startsWith('files.') && (
        <Link icon={FileCode} onClick={() => showFile(path, edit?.args.line ?? 1)}>
          In the code
        </Link>
      )}
      {commit && (
        <Link
          icon={GitCommitHorizontal}
          onClick={() => showStep(commit.args.commit, commit.args.parent)}
        >
          What it changed
        </Link>
      )}
      <Link icon={History} onClick={() => lookAt(context, result?.seq ?? event.seq)}>
        This moment
      </Link>
    </div>
  );
}

interface LinkProps {
  icon: LucideIcon;
  onClick(): void;
  children: string;
}

function Link({ icon: Icon, onClick, children }: LinkProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="inline-flex h-6 items-center gap-1 rounded-sm px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
    >
      <Icon size={12} aria-hidden /> {children}
    </button>
  );
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

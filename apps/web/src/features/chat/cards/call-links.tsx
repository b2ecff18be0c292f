import {
  calledOperation,
  pathsOf,
  runResultOf,
  terminalName,
  type Event,
  type Operation,
} from '@belay/protocol';
import { FileCode, GitCommitHorizontal, History, SquareTerminal, Undo2 } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { askUndoStep } from '@/features/session-controls/ask-undo';
import { useCanAct } from '@/features/session-controls/use-can-act';
import type { Result } from '@/features/session-log/call-result';
import { changesAreUndone } from '@/features/session-log/undone';
import { showCommit, showFile, showTerminal } from '@/lib/panel-links';
import { attempt } from '@/lib/toasts';
import { lookAt, useSessionContext, useView } from '@/features/session-log/session-context';

interface CallLinksProps {
  event: Event;
  result: Result | undefined;
}

/** Links to a call’s terminal, file, changes and moment. */
export function CallLinks({ event, result }: CallLinksProps) {
  const context = useSessionContext();
  const commit = useView((view) => view.commits.get(event.id ?? ''));
  const edit = useView((view) => view.edits.get(event.id ?? '')?.[0]);
  const undone = useView((view) => changesAreUndone(view, event.id));
  const mayUndo = useCanAct();
  const operation = calledOperation(event.action);
  const terminal = terminalOf(operation, { event, result });
  const path = edit?.args.path ?? fileOf(operation, { event, result });
  return (
    <div className="flex flex-wrap gap-1 border-t px-2 py-1">
      {terminal && (
        <LinkButton
          icon={SquareTerminal}
          onClick={() => showTerminal(terminal.name, terminal.offset)}
        >
          View in terminal
        </LinkButton>
      )}
      {path && (
        <LinkButton icon={FileCode} onClick={() => showFile(path, edit?.args.line ?? 1)}>
          View in code
        </LinkButton>
      )}
      {commit && (
        <LinkButton
          icon={GitCommitHorizontal}
          onClick={() => showCommit(commit.args.commit, commit.args.parent)}
        >
          View changes
        </LinkButton>
      )}
      <LinkButton
        icon={History}
        onClick={() => lookAt(context, Math.max(event.seq, result?.seq ?? 0, commit?.seq ?? 0))}
      >
        View this moment
      </LinkButton>
      {commit && mayUndo && !undone && (
        <LinkButton icon={Undo2} onClick={() => attempt(() => askUndoStep(context.id, commit))}>
          Undo…
        </LinkButton>
      )}
    </div>
  );
}

/** The terminal of a call, and the byte offset of the call’s output in it, if known. */
function terminalOf(operation: Operation | undefined, { event, result }: CallLinksProps) {
  if (operation?.display !== 'command' && operation?.display !== 'terminal') return null;
  const run = result && runResultOf(result.args);
  if (run) return { name: run.terminal, offset: run.from };
  const name = terminalName.safeParse(event.args['terminal']).data;
  return name === undefined ? null : { name, offset: null };
}

/** The first path of a call that reads or edits files. */
function fileOf(operation: Operation | undefined, { event, result }: CallLinksProps) {
  if (operation?.display !== 'file' && operation?.display !== 'edit') return undefined;
  const input = operation.input.safeParse(event.args);
  return input.success ? pathsOf(operation, input.data, result?.args.output)[0] : undefined;
}

interface LinkButtonProps {
  icon: LucideIcon;
  onClick(): void;
  children: string;
}

function LinkButton({ icon: Icon, onClick, children }: LinkButtonProps) {
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

import type { SessionState } from '@belay/protocol';
import { clsx } from 'clsx';

const colours: Record<SessionState, string> = {
  starting: 'border-run text-run',
  running: 'border-run bg-run text-run',
  waiting: 'border-amber-fill bg-amber-fill text-amber',
  paused: 'border-faint text-muted',
  finished: 'border-pass bg-pass text-pass',
  failed: 'border-fail bg-fail text-fail',
  limited: 'border-fail text-fail',
  stopped: 'border-faint bg-faint text-muted',
};

const words: Record<SessionState, string> = {
  starting: 'starting',
  running: 'running',
  waiting: 'needs you',
  paused: 'paused',
  finished: 'finished',
  failed: 'failed',
  limited: 'limit reached',
  stopped: 'stopped',
};

interface StateDotProps {
  state: SessionState;
  /** Whether the session waits for capacity to start. */
  queued?: boolean;
}

/** A session’s state as a dot and a word, never by colour alone. */
export function StateDot({ state, queued }: StateDotProps) {
  const [border = '', ...rest] = colours[state].split(' ');
  const text = rest.at(-1);
  return (
    <span className={clsx('inline-flex items-center gap-1.5 text-sm whitespace-nowrap', text)}>
      <span
        aria-hidden
        className={clsx(
          'size-2 rounded-full border-[1.5px]',
          border,
          rest.length > 1 && rest[0],
          !queued && (state === 'running' || state === 'starting') && 'animate-breathe',
        )}
      />
      {queued ? 'queued' : words[state]}
    </span>
  );
}

import { useDeferredValue } from 'react';
import { isEnded } from '@belay/protocol';
import { GitFork, Pause, Play, SkipBack, SkipForward, Undo2 } from 'lucide-react';
import { clsx } from 'clsx';
import { Button } from '@/components/ui/button';
import { Select } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { askRewind } from '@/features/session-controls/ask-undo';
import { askFork } from '@/features/session-controls/fork-request';
import {
  lookAt,
  useLog,
  useMoment,
  useSessionContext,
} from '@/features/session-log/session-context';
import { summaryNow, useSessionState } from '@/lib/summaries';
import { useLiveState } from '@/lib/use-live-state';
import { useReadOnly } from '@/lib/role';
import { recorded } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { speeds, stepFrom } from './playback';
import { Track } from './track';
import { usePlayback } from './use-playback';

/** A scrubber for the log. All panels show the selected moment. */
export function Timeline() {
  const readOnly = useReadOnly();
  const context = useSessionContext();
  const { moment } = context;
  const at = useMoment((state) => state.at);
  const playing = useMoment((state) => state.playing);
  const speed = useMoment((state) => state.speed);
  const state = useSessionState(context.id);
  const connected = useLiveState() === 'live';
  const ended = recorded || (state !== undefined && isEnded(state));
  usePlayback();
  const step = (direction: 1 | -1) => {
    const { marks, lastSeq } = context.log.getState().view;
    const to = stepFrom(marks, at ?? lastSeq, direction);
    if (to !== null) lookAt(context, to);
    else if (direction === 1) lookAt(context, null);
  };
  const play = () => {
    if (at === null) lookAt(context, context.log.getState().first);
    moment.setState({ playing: !playing });
  };
  return (
    <footer
      aria-label="Timeline"
      className="flex h-10 shrink-0 items-center gap-1 border-t bg-panel px-3"
    >
      <IconButton label="Step back" icon={SkipBack} onClick={() => step(-1)} />
      <IconButton
        label={playing ? 'Pause the replay' : 'Play from here'}
        icon={playing ? Pause : Play}
        onClick={play}
      />
      <IconButton
        label="Step forward"
        icon={SkipForward}
        onClick={() => step(1)}
        disabled={at === null}
      />
      <Select
        aria-label="Speed"
        value={speed}
        onChange={(event) => moment.setState({ speed: Number(event.target.value) })}
        className="h-6 w-16 text-xs"
      >
        {speeds.map((each) => (
          <option key={each} value={each}>
            {each}×
          </option>
        ))}
      </Select>
      <TimelineTrack at={at} />
      {at !== null && !readOnly && <PastActions at={at} />}
      <Button small look="ghost" aria-pressed={at === null} onClick={() => lookAt(context, null)}>
        <span
          aria-hidden
          className={clsx(
            'size-2 rounded-full',
            at === null && connected && !ended ? 'bg-run' : 'border border-faint',
          )}
        />
        {ended ? 'end' : 'live'}
      </Button>
      <Position at={at} />
    </footer>
  );
}

/** Deferred, since the log may grow many times a second; rerenders only what shows its length. */
const useLast = () => useDeferredValue(useLog((log) => log.view.lastSeq));

function TimelineTrack({ at }: { at: number | null }) {
  const context = useSessionContext();
  const first = useLog((log) => log.first);
  const last = useLast();
  const marks = useDeferredValue(useLog((log) => log.view.marks));
  return (
    <Track
      first={first}
      last={last}
      at={at ?? last}
      marks={marks}
      onMove={(seq) => lookAt(context, seq >= last ? null : seq)}
    />
  );
}

function PastActions({ at }: { at: number }) {
  const context = useSessionContext();
  return (
    <>
      <Button small onClick={() => askFork(summaryNow(context.id), at)}>
        <GitFork size={12} aria-hidden /> Fork here…
      </Button>
      <Button
        small
        onClick={() =>
          attempt(() => askRewind(context, { seq: at, title: `Rewind to event ${at}?` }))
        }
      >
        <Undo2 size={12} aria-hidden /> Rewind to here…
      </Button>
    </>
  );
}

function Position({ at }: { at: number | null }) {
  const last = useLast();
  return (
    <span className="w-20 text-right text-xs whitespace-nowrap text-faint tabular-nums">
      {at === null ? `event ${last}` : `${at} / ${last}`}
    </span>
  );
}

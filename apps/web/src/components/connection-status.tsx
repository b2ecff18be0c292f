import { useLiveState } from '@/lib/use-live-state';

const words = {
  connecting: 'connecting…',
  reconnecting: 'reconnecting, nothing is lost',
  refused: 'The server refused the connection. Open the URL that it printed at startup.',
} as const;

/** A notice while there is no live connection; otherwise nothing. */
export function ConnectionStatus() {
  const state = useLiveState();
  if (state === 'live') return null;
  return (
    <span
      role="status"
      className="inline-flex items-center gap-1.5 truncate text-sm text-muted"
      title={words[state]}
    >
      <span aria-hidden className="size-2 rounded-full border-[1.5px] border-muted" />
      <span className="truncate max-md:max-w-24">{words[state]}</span>
    </span>
  );
}

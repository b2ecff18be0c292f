import { isEvent, runResultOf, type Event } from '@belay/protocol';

interface TerminalRecording {
  title: string;
  terminal: string;
  bytes: Uint8Array;
  events: readonly Event[];
}

/**
 * Converts a terminal’s bytes to asciicast v3 (docs.asciinema.org/manual/asciicast/v3). The log has
 * the time at which each operation’s output ended, so the bytes up to there appear at that time.
 */
export function toAsciicast({ title, terminal, bytes, events }: TerminalRecording): string {
  const first = Date.parse(events[0]?.time ?? '') || 0;
  const decoder = new TextDecoder();
  const { columns, rows } = sizeOf(events, terminal);
  const header = {
    version: 3,
    term: { cols: columns, rows },
    timestamp: Math.floor(first / 1_000),
    title,
  };
  const lines = [JSON.stringify(header)];
  let written = 0;
  let last = first;
  const put = (time: number, code: string, data: string) => {
    if (!data) return;
    lines.push(JSON.stringify([Math.max(0, time - last) / 1_000, code, data]));
    last = Math.max(last, time);
  };
  for (const { time, resize, end } of moments(events, terminal)) {
    if (resize) put(time, 'r', resize);
    if (end <= written) continue;
    put(time, 'o', decoder.decode(bytes.subarray(written, end), { stream: true }));
    written = end;
  }
  put(last, 'o', decoder.decode(bytes.subarray(written)));
  return `${lines.join('\n')}\n`;
}

function* moments(events: readonly Event[], terminal: string) {
  for (const event of events) {
    const time = Date.parse(event.time);
    if (isEvent(event, 'terminal') && event.args.terminal === terminal) {
      const { change, columns, rows, to = 0 } = event.args;
      const resize = change === 'resized' ? `${columns}x${rows}` : null;
      if (resize !== null || to > 0) yield { time, resize, end: to };
    }
    if (!isEvent(event, 'result')) continue;
    const run = runResultOf(event.args);
    if (run?.terminal === terminal) yield { time, resize: null, end: run.to };
  }
}

function sizeOf(events: readonly Event[], terminal: string) {
  for (const event of events)
    if (isEvent(event, 'terminal') && event.args.terminal === terminal) return event.args;
  return { columns: 120, rows: 30 };
}

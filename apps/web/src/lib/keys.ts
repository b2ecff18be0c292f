/** One keystroke: a key with its modifiers. `mod` is ⌘ on a Mac and Ctrl elsewhere. */
interface Stroke {
  key: string;
  mod: boolean;
  shift: boolean;
  alt: boolean;
}

/** Parses a shortcut such as `mod+k`, or a sequence such as `g f`; null if it is invalid. */
export function parseKeys(text: string): Stroke[] | null {
  const strokes = text.trim().split(/\s+/).filter(Boolean).map(parseStroke);
  return strokes.length && strokes.length <= 2 && strokes.every((stroke) => stroke !== null)
    ? strokes
    : null;
}

/** Formats a shortcut for display: ⌘K, Ctrl+K, G F. */
export function formatKeys(text: string, mac = isMac()): string {
  return (parseKeys(text) ?? [])
    .map(({ key, mod, shift, alt }) =>
      [
        mod && (mac ? '⌘' : 'Ctrl'),
        alt && (mac ? '⌥' : 'Alt'),
        shift && (mac ? '⇧' : 'Shift'),
        label(key),
      ]
        .filter(Boolean)
        .join(mac ? '' : '+'),
    )
    .join(' ');
}

export function strokeOf(event: KeyboardEvent, mac = isMac()): Stroke {
  const printable = event.key.length === 1;
  return {
    key: event.key === ' ' ? 'space' : event.key.toLowerCase(),
    mod: mac ? event.metaKey : event.ctrlKey,
    shift: event.shiftKey && !(printable && !/[a-z]/i.test(event.key)),
    alt: event.altKey,
  };
}

export const writeStroke = ({ key, mod, shift, alt }: Stroke): string =>
  [mod && 'mod', alt && 'alt', shift && 'shift', key].filter(Boolean).join('+');

/**
 * Finds the command whose shortcut a keystroke completes. The first keystroke of a sequence is
 * remembered for `timeoutMs`.
 */
export function createMatcher(timeoutMs = 800) {
  let held: { stroke: string; until: number } | null = null;
  return (
    stroke: Stroke,
    bindings: ReadonlyMap<string, string>,
    now = Date.now(),
  ): string | null => {
    const pressed = writeStroke(stroke);
    const sequence = held && held.until > now ? `${held.stroke} ${pressed}` : null;
    held = null;
    for (const wanted of [sequence, pressed]) {
      const command = wanted && bindings.get(wanted);
      if (command) return command;
    }
    if ([...bindings.keys()].some((keys) => keys.startsWith(`${pressed} `)))
      held = { stroke: pressed, until: now + timeoutMs };
    return null;
  };
}

function parseStroke(text: string): Stroke | null {
  const parts = text.toLowerCase().split('+');
  const key = parts.pop();
  if (!key || !parts.every((part) => ['mod', 'shift', 'alt'].includes(part))) return null;
  return {
    key,
    mod: parts.includes('mod'),
    shift: parts.includes('shift'),
    alt: parts.includes('alt'),
  };
}

const names: Record<string, string> = {
  arrowleft: '←',
  arrowright: '→',
  arrowup: '↑',
  arrowdown: '↓',
  enter: '↵',
  escape: 'Esc',
  space: 'Space',
};
const label = (key: string): string => names[key] ?? (key.length === 1 ? key.toUpperCase() : key);

function isMac(): boolean {
  return typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.userAgent);
}

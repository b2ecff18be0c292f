/** An expression that the project does not use, and its replacement. */
export interface OldWord {
  pattern: RegExp;
  say: string;
}

/** Words of a dialect that the project once used; each is found in prose and inside identifiers. */
export const oldWords: OldWord[] = [
  word('rooms?', 'module (code); space, capacity or budget (disk, context)'),
  word('doors?', 'API, gateway or entry point'),
  word('ropes?', 'agent connection'),
  word('facts?', 'event', { notAfter: 'in ' }),
  word('assignments?', 'start payload'),
  word('mend(?:s|ed|ing)?', 'fix'),
  word('farewells?', '…TimeoutMs'),
  word('patience', '…TimeoutMs'),
  phrase(String.raw`\bgrace(?![a-z])|[a-z]Grace(?![a-z])`, '…DelayMs or …TimeoutMs'),
  word('turnstiles?', 'semaphore, mutex or queue'),
  phrase('inTurn', 'mutex or queue'),
  word('born', 'onCreated, created'),
  word('tapes?', 'scrollback'),
  word('torn', 'partial line'),
  word('hears?|heard', 'receives, received'),
  word('surroundings', 'environment'),
  word('machinery', 'environment or lifecycle'),
  word('submissions?', 'artifacts or answer'),
  word('courses?', 'lifecycle', { notAfter: 'of ' }),
  phrase(String.raw`\b(?:a|the|one|each|next|first|second|by) press(?:es)?\b(?! of)`, 'click'),
  phrase(String.raw`\bparted by\b`, 'separated by'),
  phrase(String.raw`\band not touch\b`, 'read-only'),
  phrase(String.raw`\b[Ww]ho may only watch\b`, 'viewers'),
  phrase(String.raw`\bGoes on\b|\b[Ww]ent on\b`, 'Resumed, continued'),
  phrase(
    String.raw`\b[Tt]he persons?\b|\b(?:[Aa]|[Oo]ne|[Ee]ach|[Ee]very|[Aa]nother) person\b`,
    'the user',
  ),
  word('forsaken', 'orphaned'),
  word('sieves?', 'filter'),
  word('arrivals?', 'background result'),
  phrase(String.raw`(?:#|\bfunction |[.=] ?)carry(?:Http)?\(|\bcarry\.js`, 'relay'),
  phrase(String.raw`\bbeneath\b`, 'below, under'),
  phrase(String.raw`\bthat it may reach\b`, 'that it can reach'),
  phrase(String.raw`\bshown this once\b`, 'shown only once'),
  phrase(String.raw`\btakes root\b`, 'needs root'),
  phrase(String.raw`\bbelongs? into\b`, 'belongs in'),
  phrase(String.raw`\bOpen are\b`, 'Open:'),
  phrase(
    String.raw`\b(?:let in|touched|read|kept|sent|waits?|counts?|takes|asks?|accepts) no more\b(?! than)`,
    'no longer',
  ),
  phrase(
    String.raw`(?<!\b[Tt]?[Ww]?here )\b(?:is|are|was|were) no (?!(?:longer|more|one|other|way|good|reason|sign|loss|limit|matter|business|history|permission|such)\b)\w+`,
    'is not a …',
  ),
  phrase(String.raw`(?<=(?:\*|//).*; )answers\b`, 'returns (a function)'),
  phrase(String.raw`(?<=(?:\*|//) )Answers (?:with|whether|true|its)\b`, 'Returns (a function)'),
  ...[
    ['Most (?:dollars|tokens|minutes)', 'Spending limit ($), Token limit, …'],
    ['Nothing is called that', 'No matches'],
    ['A folder of mine', 'My folder'],
    ['Put all panels back', 'Reset layout'],
    ['Pick none', 'Clear selection'],
    ['Make the rule', 'Create rule'],
    ['It would have decided', 'Would match'],
    ['Taken back', 'Reverted'],
    ['is asked of you', 'You’re asked about …'],
    ['Not allowed by you', 'You denied this'],
    ['Two minutes', 'Activity (2 min)'],
    ['out of budget', 'limit reached'],
  ].map(([text = '', say = '']) => phrase(String.raw`\b${text}\b`, say)),
];

/** A place where an old word is correct. */
export interface Exception {
  path: RegExp;
  /** The word is allowed on lines that match. */
  line: RegExp;
  why: string;
}

export const exceptions: Exception[] = [
  { path: /^README\.md$/, line: /holding the rope/, why: 'the brand keeps it in one sentence' },
  { path: /^apps\/server\/src\/api\/dashboard\//, line: /room/, why: 'the word of socket.io' },
  {
    path: /\/migrations/,
    line: /arrival/,
    why: 'the name that an event had in databases of earlier versions',
  },
  {
    path: /\/testing\/javascript-logs\.ts$/,
    line: /is no /,
    why: 'what test runners print, whose parser has to pass it over',
  },
  {
    path: /\/files\/lines\.ts$/,
    line: /(?:is|are) no line/,
    why: '“there” stands before it',
  },
  {
    path: /\/kubernetes\//,
    line: /[gG]racePeriodSeconds/,
    why: 'a field of Kubernetes',
  },
  { path: /\/harbor\.spec\.ts$/, line: /door/, why: 'the story of a task in a test' },
];

/** Folders and files in which old words are not replaced yet. */
export const notYet: string[] = [];

/** Third-party texts, data, and the words themselves. */
export const foreign: RegExp[] = [
  /^package-lock\.json$/,
  /^LICENSE$/,
  /^tools\/plain-language/,
  /\/project\//,
  /\/fixtures?\//,
  /cassette[^/]*$/,
  /expected\.patch$/,
  /\.(?:png|svg|ico|woff2|jpe?g|gz|tar|zip)$/,
];

/**
 * A word on its own, capitalized, or as part of a name in camel case, but not within other words.
 */
function word(expression: string, say: string, { notAfter = '' } = {}): OldWord {
  const capital = expression
    .split('|')
    .map((each) => `${each.charAt(0).toUpperCase()}${each.slice(1)}`)
    .join('|');
  const before = notAfter && `(?<!\\b${notAfter})`;
  return phrase(
    `${before}(?:(?<![A-Za-z])(?:${expression})|(?<![A-Z])(?:${capital}))(?![a-z])`,
    say,
  );
}

function phrase(expression: string, say: string): OldWord {
  return { pattern: new RegExp(expression, 'g'), say };
}

import {
  changeStatement,
  dollarsText,
  pluralText,
  type ChangeRecord,
  type RerunReport,
  type SignedEnvelope,
} from '@belay/protocol';

const [begin, end] = ['<!-- belay:proof -->', '<!-- /belay:proof -->'];

/** Hosts limit the text of a pull request; a larger statement is found by the trailer of its commit. */
const maxEnvelope = 20_000;

/** A commit with what the server signed about it. */
export interface ProvenCommit {
  commit: string;
  record: ChangeRecord;
  envelope: SignedEnvelope;
}

export function provenCommit(envelope: SignedEnvelope): ProvenCommit {
  const text = Buffer.from(envelope.payload, 'base64').toString();
  const { predicate, subject } = changeStatement.parse(JSON.parse(text));
  return { commit: subject[0].digest.gitCommit, record: predicate, envelope };
}

/** The text of a pull request with what the server says about its commit, in the place of all that claims to be that. */
export function withProofBlock(body: string, envelope: SignedEnvelope | undefined): string {
  const own = withoutClaims(body).trimEnd();
  const block = envelope && proofBlock([provenCommit(envelope)]);
  return [own, block].filter(Boolean).join('\n\n');
}

/**
 * What the server says about commits of one branch, the newest first. It is the same each time, by which a block that was
 * changed is known: with other words here, the blocks of earlier versions are left as they are.
 */
export function proofBlock([newest, ...earlier]: readonly [
  ProvenCommit,
  ...ProvenCommit[],
]): string {
  const { record, commit, envelope } = newest;
  return [
    begin,
    sentencesOf(record, commit),
    ...(earlier.length > 0 ? [earlier.map(earlierLine).join('\n')] : []),
    ...details(envelope),
    end,
  ].join('\n\n');
}

/** A part of a text that claims to be a block. */
interface ClaimedBlock {
  from: number;
  to: number;
  text: string;
  /** The commits that it names, the newest first. */
  commits: string[];
}

/** The innermost pairs of marks in a text, and what is between them: whoever may edit the text may write such. */
export function claimedBlocks(body: string): ClaimedBlock[] {
  const found: ClaimedBlock[] = [];
  let after = 0;
  for (let at = body.indexOf(end); at >= 0; at = body.indexOf(end, at + end.length)) {
    const start = body.slice(after, at).lastIndexOf(begin);
    const to = at + end.length;
    if (start >= 0) {
      const from = after + start;
      const text = body.slice(from, to);
      found.push({ from, to, text, commits: commitsIn(text) });
    }
    after = to;
  }
  return found;
}

function commitsIn(text: string): string[] {
  const newest = / `belay verify ([0-9a-f]{40})`/.exec(text);
  const earlier = [...text.matchAll(/^- Earlier: ([0-9a-f]{40})/gm)];
  return [...(newest ? [newest] : []), ...earlier].map(([, commit = '']) => commit);
}

/** Also what becomes a mark only when another one is taken out. */
function withoutClaims(body: string): string {
  let text = body;
  for (;;) {
    const left = text
      .replaceAll(/<!-- belay:proof -->.*?(?:<!-- \/belay:proof -->|$)/gs, '')
      .replaceAll(end, '');
    if (left === text) return text;
    text = left;
  }
}

/** Without marks around the commit, so that hosts make it a link. */
const earlierLine = ({ commit, record: { reruns } }: ProvenCommit): string =>
  `- Earlier: ${commit}, ${reruns && reruns.claims.length > 0 ? verdictsOf(reruns) : 'not run again'}`;

function sentencesOf(
  { change, observed, log, belay, reruns }: ChangeRecord,
  commit: string,
): string {
  const { agent, models, approvals } = observed;
  const costs = models.map(({ name, microdollars }) =>
    microdollars === null ? name : `${name} (${dollarsText(microdollars / 1e6)})`,
  );
  const decided = pluralText(approvals.approved + approvals.rejected, 'decision');
  return [
    `### Proof`,
    [
      `The server signed what it knows of \`${commit.slice(0, 12)}\`: ${pluralText(change.files, 'changed file')} on \`${change.parent.gitCommit.slice(0, 12)}\`, by the agent ${agent.name} ${agent.version ?? belay}`,
      costs.length > 0 && ` with ${costs.join(', ')}`,
      `, with ${decided} on its calls (mode ${approvals.mode}), in a log of ${pluralText(log.seq, 'event')}.`,
      !reruns && ' It has not run the change again.',
    ]
      .filter(Boolean)
      .join(''),
    reruns && rerunSentence(reruns),
    `Verify it: \`belay verify\` with the address of this page, or in a clone \`belay verify ${commit}\``,
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** Without what programs printed, which a reader must not take for the server’s words. */
function rerunSentence(reruns: RerunReport): string {
  const setup = reruns.settings?.setup ? ', with what a setup had made in one with a network' : '';
  return `In fresh sandboxes without a network${setup}, the server ran: ${verdictsOf(reruns)}.`;
}

const verdictsOf = ({ claims }: RerunReport): string =>
  claims.map(({ claim, verdict }) => `${claim} **${verdict}**`).join(', ');

function details(envelope: SignedEnvelope): string[] {
  const json = JSON.stringify(envelope);
  if (json.length > maxEnvelope) return [];
  return [
    `<details><summary>Signed statement</summary>\n\n\`\`\`json\n${json}\n\`\`\`\n\n</details>`,
  ];
}

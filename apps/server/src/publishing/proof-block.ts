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

/** The text of a pull request with what the server says about its commit, in the place of all that claims to be that. */
export function withProofBlock(body: string, envelope: SignedEnvelope | undefined): string {
  const own = body
    .replaceAll(/<!-- belay:proof -->.*?(?:<!-- \/belay:proof -->|$)/gs, '')
    .trimEnd();
  if (!envelope) return own;
  const text = Buffer.from(envelope.payload, 'base64').toString();
  const { predicate, subject } = changeStatement.parse(JSON.parse(text));
  const [{ digest }] = subject;
  const block = [begin, sentencesOf(predicate, digest.gitCommit), ...details(envelope), end];
  return [own, block.join('\n\n')].filter(Boolean).join('\n\n');
}

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
function rerunSentence({ claims }: RerunReport): string {
  const verdicts = claims.map(({ claim, verdict }) => `${claim} **${verdict}**`);
  return `In fresh sandboxes without a network, the server ran: ${verdicts.join(', ')}.`;
}

function details(envelope: SignedEnvelope): string[] {
  const json = JSON.stringify(envelope);
  if (json.length > maxEnvelope) return [];
  return [
    `<details><summary>Signed statement</summary>\n\n\`\`\`json\n${json}\n\`\`\`\n\n</details>`,
  ];
}

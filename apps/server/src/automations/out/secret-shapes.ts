/** Tokens that are recognized by how they begin, whoever’s they are. The first group is the random part. */
const shapes: readonly (readonly [label: string, shape: RegExp])[] = [
  ['a token of GitHub', /\bgh[pousr]_([A-Za-z0-9]{30,255})/g],
  ['a token of GitHub', /\bgithub_pat_(\w{22,255})/g],
  ['a token of GitLab', /\bgl(?:pat|dt|rt|cbt|ptt|ft|oas)-([\w-]{20,255})/g],
  ['a key of AWS', /\b(?:AKIA|ASIA)([0-9A-Z]{16})\b/g],
  ['a key of Anthropic', /\bsk-ant-([\w-]{20,255})/g],
  ['a key of OpenAI', /\bsk-(?:proj-|svcacct-)?([A-Za-z0-9_-]{32,255})/g],
  ['a key of Google', /\bAIza([\w-]{35})/g],
  ['a token of Slack', /\bxox[abeoprs]-([\w-]{10,255})/g],
  ['a token of Belay', /\b(?:bl[tr]_|bhk_|join-|machine-)([\w.-]{32,255})/g],
  ['a private key', /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----\s*([\w+/=\s-]{40,200})/g],
];

/** Placeholders such as `ghp_xxxxxxxx` have less. */
const minBits = 3;

/** What the text holds by its shape: “a token of GitHub”. */
export function secretShapeIn(text: string): string | undefined {
  for (const [label, shape] of shapes)
    for (const [, random = ''] of text.matchAll(shape)) if (bitsOf(random) >= minBits) return label;
  return undefined;
}

/** Shannon’s entropy of a character, in bits. */
function bitsOf(text: string): number {
  const counts = new Map<string, number>();
  for (const sign of text) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

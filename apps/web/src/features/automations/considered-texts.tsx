import { pluralText, type ConsideredText } from '@belay/protocol';

const kinds: Record<ConsideredText['kind'], string> = {
  title: 'The title',
  issue: 'The issue’s text',
  pull: 'The pull request’s text',
  comment: 'A comment',
  review: 'A review',
  diff: 'The change',
  checks: 'The output of checks',
  payload: 'What was sent',
};

const uses: Record<ConsideredText['used'], string> = {
  task: 'is part of the task',
  quoted: 'is quoted as data',
  'left-out': 'was left out',
};

/** Which texts a run used, and which it did not; never the texts themselves. */
export const ConsideredTexts = ({ texts }: { texts: readonly ConsideredText[] }) => (
  <ul className="space-y-1 text-sm">
    {texts.map(({ kind, author, level, used, removed, sha256 }, at) => (
      <li key={`${sha256} ${at}`} className={used === 'left-out' ? 'text-muted' : undefined}>
        {kinds[kind]}
        {author !== null && ` by user ${author}`}
        {level !== null && ` (${level})`} {uses[used]}
        {removed > 0 && `; ${pluralText(removed, 'hidden character')} removed`}.
      </li>
    ))}
  </ul>
);

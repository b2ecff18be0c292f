import { Circle, CircleCheck, CircleDashed, CircleSlash, CircleX } from 'lucide-react';
import { clsx } from 'clsx';
import { trialWords, type TrialStatus } from './run-words';

const looks: Record<TrialStatus, { icon: typeof Circle; colour: string }> = {
  pass: { icon: CircleCheck, colour: 'text-pass' },
  fail: { icon: CircleX, colour: 'text-fail' },
  invalid: { icon: CircleSlash, colour: 'text-muted' },
  queued: { icon: CircleDashed, colour: 'text-faint' },
  building: { icon: Circle, colour: 'text-run' },
  working: { icon: Circle, colour: 'text-run' },
  verifying: { icon: Circle, colour: 'text-run' },
};

/** A trial’s status as an icon and a word, never by colour alone. */
export function VerdictMark({ shown, word = true }: { shown: TrialStatus; word?: boolean }) {
  const { icon: Icon, colour } = looks[shown];
  return (
    <span className={clsx('inline-flex items-center gap-1 text-sm whitespace-nowrap', colour)}>
      <Icon
        size={14}
        aria-hidden
        className={clsx('shrink-0', Icon === Circle && 'animate-breathe fill-current')}
      />
      <span className={word ? '' : 'sr-only'}>{trialWords[shown]}</span>
    </span>
  );
}

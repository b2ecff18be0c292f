import { askFork } from '@/features/session-controls/fork-request';
import type { SessionContext } from '@/features/session-log/session-context';
import { summaryNow } from '@/lib/summaries';

/** Opens the dialog that forks from the displayed moment. */
export const askForkHere = ({ id, moment }: SessionContext): void =>
  askFork(summaryNow(id), moment.getState().at ?? undefined);

import { create } from 'zustand';
import { attempt } from './toasts';

export interface Question {
  title: string;
  text?: string;
  /** Lines that show what it is about, such as files. */
  lines?: readonly string[];
  /** Asks for a text with this label; without it only for a yes. */
  label?: string;
  value?: string;
  verb: string;
  danger?: boolean;
  answer(text: string | null): void;
}

export const useQuestion = create<{ question: Question | null }>()(() => ({ question: null }));

/** Asks for a line of text; null when the user changed their mind. */
export function askText(question: Omit<Question, 'answer'>): Promise<string | null> {
  useQuestion.getState().question?.answer(null);
  return new Promise((resolve) => {
    const answer = (text: string | null) => {
      useQuestion.setState({ question: null });
      resolve(text);
    };
    useQuestion.setState({ question: { ...question, answer } });
  });
}

type Confirmation = Omit<Question, 'answer' | 'label'>;

export const askConfirm = async (question: Confirmation): Promise<boolean> =>
  (await askText(question)) !== null;

/** Runs what the user confirms, and says `done` at its end; a failure becomes a toast. */
export const attemptConfirmed = (
  question: Confirmation,
  work: () => Promise<unknown>,
  done?: string,
): void => void askConfirm(question).then((sure) => sure && attempt(work, done));

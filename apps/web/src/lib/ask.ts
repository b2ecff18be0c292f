import { create } from 'zustand';
import { attempt } from './toasts';

export interface Question {
  title: string;
  text?: string;
  /** Details to show below the text, such as file names. */
  lines?: readonly string[];
  /** The label of a text field; without it, the question only asks for confirmation. */
  label?: string;
  value?: string;
  verb: string;
  danger?: boolean;
  answer(text: string | null): void;
}

export const useQuestion = create<{ question: Question | null }>()(() => ({ question: null }));

/** Asks for a line of text; resolves to null if the user cancels. */
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

/** Asks for confirmation and runs `work`. Success shows `done` as a toast, a failure its error. */
export const attemptConfirmed = (
  question: Confirmation,
  work: () => Promise<unknown>,
  done?: string,
): void => void askConfirm(question).then((sure) => sure && attempt(work, done));

import { create } from 'zustand';

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

export const askConfirm = async (question: Omit<Question, 'answer' | 'label'>): Promise<boolean> =>
  (await askText(question)) !== null;

import { create } from 'zustand';

/** The search in the chat. `opened` counts how often it was opened, to focus its field each time. */
export const useChatFind = create<{ open: boolean; opened: number }>()(() => ({
  open: false,
  opened: 0,
}));

export const openChatFind = (): void =>
  useChatFind.setState(({ opened }) => ({ open: true, opened: opened + 1 }));

export const closeChatFind = (): void => useChatFind.setState({ open: false });

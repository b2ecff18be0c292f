import { FindBar } from '@/components/ui/find-bar';
import { closeChatFind, useChatFind } from './chat-find';
import type { ChatSearch } from './use-chat-search';

interface ChatFindBarProps {
  search: ChatSearch;
  /** The search was closed, and its field had the focus. */
  onClose(): void;
}

/** The field of the search in the chat, while it is open. */
export function ChatFindBar({ search, onClose }: ChatFindBarProps) {
  const opened = useChatFind((find) => find.opened);
  const { open, text, setText, status, step } = search;
  if (!open) return null;
  return (
    <FindBar
      key={opened}
      label="Find in the chat"
      text={text}
      onText={setText}
      status={status}
      onStep={step}
      onClose={() => {
        closeChatFind();
        onClose();
      }}
    />
  );
}

import type { ReactNode } from 'react';
import { Dialog as Radix } from 'radix-ui';
import { X } from 'lucide-react';
import { VisibleText } from './visible-text';

interface DialogProps {
  onClose(): void;
  title: string;
  children: ReactNode;
  wide?: boolean;
}

export function Dialog({ onClose, title, children, wide }: DialogProps) {
  return (
    <Radix.Root open onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#00000066]" />
        <Radix.Content
          aria-describedby={undefined}
          className={`fixed top-[12vh] left-1/2 z-50 flex max-h-[76vh] w-[calc(100vw-32px)] -translate-x-1/2 flex-col rounded-lg border border-line-strong bg-panel ${wide ? 'max-w-3xl' : 'max-w-lg'}`}
        >
          <div className="flex items-center justify-between border-b px-4 py-2">
            <Radix.Title className="font-semibold">
              <VisibleText text={title} />
            </Radix.Title>
            <Radix.Close
              aria-label="Close"
              className="rounded-md p-1 text-muted hover:bg-hover hover:text-ink"
            >
              <X size={15} aria-hidden />
            </Radix.Close>
          </div>
          <div className="overflow-y-auto p-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

import type { ReactNode } from 'react';
import { DropdownMenu } from 'radix-ui';

export interface MenuItem {
  label: string;
  run(): void;
  danger?: boolean;
  disabled?: boolean;
  hint?: string;
}

interface MenuProps {
  trigger: ReactNode;
  /** Asked for while the menu is open. `null` is a line between groups. */
  items(): readonly (MenuItem | null)[];
}

/** A menu behind a button. */
export function Menu({ trigger, items }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          className="z-50 min-w-44 rounded-md border border-line-strong bg-panel p-1 text-sm"
        >
          <Items items={items} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Items({ items }: Pick<MenuProps, 'items'>) {
  return items().map((item, index) =>
    item ? (
      <DropdownMenu.Item
        key={item.label}
        disabled={item.disabled ?? false}
        onSelect={item.run}
        className={`flex cursor-pointer items-center justify-between gap-6 rounded-sm px-2 py-1 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover ${item.danger ? 'text-fail' : ''}`}
      >
        {item.label}
        {item.hint && <span className="text-xs text-faint">{item.hint}</span>}
      </DropdownMenu.Item>
    ) : (
      <DropdownMenu.Separator key={`line-${index}`} className="my-1 border-t" />
    ),
  );
}

import { Box, Text, TextInput } from '@mantine/core';
import { type KeyboardEvent, useId, useState } from 'react';
import styles from './search-select.module.css';

export interface Option {
  id: string;
  label: string;
  /** Shown after the label, where labels alone may be ambiguous. */
  hint?: string;
}

interface SearchSelectProps {
  label: string;
  description?: string;
  placeholder?: string;
  error?: string | undefined;
  value: Option | null;
  /** Results of the search. */
  options: readonly Option[];
  isSearching: boolean;
  onSearch: (text: string) => void;
  onChange: (option: Option | null) => void;
}

/** Finds one of many options as the user types: a combobox whose options may come from a server. */
export function SearchSelect(props: SearchSelectProps) {
  const { label, description, placeholder, error, value, options, isSearching, onSearch, onChange } = props;
  const listId = useId();
  const [searchText, setSearchText] = useState<string | null>(null);
  const [activeIndex, setActiveIndex] = useState(0);
  const isOpen = searchText !== null;
  const active = options[Math.min(activeIndex, options.length - 1)];

  function search(text: string) {
    setSearchText(text);
    setActiveIndex(0);
    onSearch(text.trim());
  }
  function selectOption(option: Option) {
    onChange(option);
    setSearchText(null);
  }
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !isOpen) search('');
    else if (step && options.length)
      setActiveIndex((Math.min(activeIndex, options.length - 1) + step + options.length) % options.length);
    else if (event.key === 'Enter' && isOpen) active && selectOption(active);
    else if (event.key === 'Escape' && isOpen) setSearchText(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <Box pos="relative">
      <TextInput
        label={label}
        description={description}
        placeholder={placeholder}
        error={error}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={isOpen ? listId : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && active ? `${listId}-${active.id}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={searchText ?? value?.label ?? ''}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => isOpen || search('')}
        onChange={(event) => search(event.currentTarget.value)}
        onBlur={() => setSearchText(null)}
        onKeyDown={onKeyDown}
      />
      {isOpen && (
        <div className={styles.panel}>
          <div id={listId} role="listbox" aria-label={label}>
            {options.map((option) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
              <div
                key={option.id}
                id={`${listId}-${option.id}`}
                role="option"
                tabIndex={-1}
                aria-selected={option === active}
                className={styles.option}
                // The field keeps the focus, or its blur would close the list before the click.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => selectOption(option)}
              >
                {option.label}
                {option.hint && (
                  <Text span fz="xs" c="dimmed">
                    {option.hint}
                  </Text>
                )}
              </div>
            ))}
          </div>
          {options.length === 0 && (
            <Box component="p" fz="xs" c="dimmed" p="8px 12px" role="status">
              {isSearching ? 'Searching…' : 'No results'}
            </Box>
          )}
        </div>
      )}
    </Box>
  );
}

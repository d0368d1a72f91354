import { didYouMean } from '../../../src/starter/did-you-mean';

describe('the suggestion for a misspelt word', () => {
  it.each([
    ['HOLD', ['HELD', 'PENDING'], '. Did you mean HELD?'],
    ['maxDebt', ['items', 'maxDebit'], '. Did you mean maxDebit?'],
    ['SPENDING', ['HELD', 'PENDING'], '. Did you mean PENDING?'],
  ])('for %s names the word with few typos', (word, choices, suggestion) => {
    expect(didYouMean(word, choices)).toBe(suggestion);
  });

  it.each([
    ['dash', ['fish', 'zsh'], 'half of a short word differs'],
    ['COMPLETED', ['DELIVERED', 'HELD'], 'nothing is similar'],
  ])('does not exist for %s among %j: %s', (word, choices) => {
    expect(didYouMean(word, choices)).toBe('');
  });
});

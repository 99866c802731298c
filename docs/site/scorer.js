// The order of search results: how-to pages first, then reference, and records of decisions last.
const PLACES = [
  [/^decisions\//, -200],
  [/^generated\/(changelog|contributing)$|^(architecture|releasing)$/, -100],
  [/^(migration|generated)\/|^(theory|benchmark|methods)$/, -8],
];

var Scorer = {
  score: ([page, , , , score]) =>
    PLACES.reduce((sum, [pages, change]) => (pages.test(page) ? sum + change : sum), score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 25,
  partialTitle: 9,
  term: 5,
  partialTerm: 2,
};

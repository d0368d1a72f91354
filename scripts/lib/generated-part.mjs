/**
 * Replaces the part of a document between `<!-- NAME: … -->` and `<!-- end of NAME -->`.
 *
 * @param {string} document
 * @param {string} name
 * @param {string} text
 * @returns {string}
 * @throws Error if the document has no such part.
 */
export function withPart(document, name, text) {
  const part = new RegExp(`(?<=<!-- ${name}:.*?-->\n\n).*?(?=\n\n<!-- end of ${name} -->)`, 's');
  if (!part.test(document))
    throw new Error(`there is no "<!-- ${name}: … -->" with an "<!-- end of ${name} -->" after it`);
  return document.replace(part, () => text);
}

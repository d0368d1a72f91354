/** @returns the result, or undefined if it takes longer. */
export async function withTimeout<T>(ms: number, result: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}

/** A type with what is optional as a value of its own: so that two of them differ where one has an optional field more. */
type Spelt<T> = T extends readonly (infer Item)[]
  ? Spelt<Item>[]
  : T extends object
    ? {
        [Field in keyof T]-?: {
          optional: undefined extends T[Field] ? true : false;
          of: Spelt<Exclude<T[Field], undefined>>;
        };
      }
    : T;

/** Whether two types are the same, down to the last optional field. */
export type Same<One, Other> = [Spelt<One>] extends [Spelt<Other>]
  ? [Spelt<Other>] extends [Spelt<One>]
    ? true
    : false
  : false;

/** Does not compile where one of them is not true. */
export type AllTrue<Checks extends readonly true[]> = Checks;

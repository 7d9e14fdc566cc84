/** A deep link into the private chat with the bot. @param username without `@` */
export function botLink(username: string, start: string): string {
  return `https://t.me/${username}?start=${start}`
}
